import type { WorldConfig } from "../configs/world.ts";

/** Makes a world known to the world server; the base URL it answers under. */
export function registerWorldAt(serverUrl: string): (config: WorldConfig) => Promise<string> {
  return async (config) => {
    const response = await fetch(`${serverUrl}/worlds`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(config),
    });
    if (!response.ok) throw new Error(`Cannot register a world: status is ${response.status}`);
    const { id } = await response.json() as { id: string };
    return `${serverUrl}/worlds/${id}/v1`;
  };
}
