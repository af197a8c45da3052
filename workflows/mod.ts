/**
 * The order of the steps. Exported functions are workflow types, a public interface: what the Temporal
 * UI starts by name.
 * @module
 */
export { trainRouter } from "./train_router.ts";
export { trainIteration } from "./train_iteration.ts";
export { warmStart } from "./warm_start.ts";
export { rollOut } from "./roll_out.ts";
export { evaluateRouter } from "./evaluate_router.ts";
