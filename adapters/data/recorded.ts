import {
  createRecordedPool,
  parsePoolDescription,
  type RecordedPool,
} from "../../core/recorded/mod.ts";
import { readConfigFile, readConfigJson } from "./_config_files.ts";

/** The recorded pool that `pool.replay` names, with the files it names; throws InvalidConfigError. */
export async function loadRecordedRows(path: string): Promise<RecordedPool> {
  const description = parsePoolDescription(await readConfigJson(path, "pool.replay"));
  const [questions, prices, tokenizer] = await Promise.all([
    readConfigFile(description.questions, `"questions" of ${path}`),
    readConfigJson(description.prices, `"prices" of ${path}`),
    readConfigFile(description.tokenizer, `"tokenizer" of ${path}`),
  ]);
  return createRecordedPool(description, { questions, prices, tokenizer });
}
