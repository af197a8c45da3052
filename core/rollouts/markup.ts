/** Text inside tags: `&`, `<` and `>` are written as entities, so that no text can forge a tag. */

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** The text as it may stand between tags; `unescapeText` gives it back. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!);
}

/** The text an author meant; a `&` that starts no entity stays as it is. */
export function unescapeText(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt);/g, (entity) => CHARACTERS[entity]!);
}
