/** Resolves once `holds` is true; fails after `limitMs`, far beyond what a busy machine needs. */
export async function until(holds: () => boolean, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Cannot go on: still not ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
