/** What a namespace needs before the first run: a long retention and our search attributes. */

import proto from "@temporalio/proto";
import { type ConnectOptions, connectTemporal } from "./connect.ts";

const { IndexedValueType } = proto.temporal.api.enums.v1;
const { Duration } = proto.google.protobuf;

/** Closed runs stay visible this long; the server's own default is a day. */
const RETENTION_S = 30 * 24 * 3600;

/** What operators filter and sort runs by. */
const SEARCH_ATTRIBUTES = {
  HoldfastState: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  HoldfastStep: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  HoldfastReward: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
  HoldfastCostUsd: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
  HoldfastNeedsOperator: IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
  HoldfastPreset: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
};

/**
 * Creates the search attributes that are missing; `retention` also keeps closed runs for 30 days,
 * which is for a server of ours. Safe to repeat.
 * @returns whether the search attributes exist: a server of others may refuse them, a run works
 * without.
 */
export async function prepareNamespace(
  options: ConnectOptions & { readonly retention: boolean },
  log: (message: string) => void,
): Promise<boolean> {
  const { connection, namespace } = await connectTemporal(options);
  try {
    if (options.retention) {
      await connection.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: Duration.fromObject({ seconds: RETENTION_S }) },
      });
    }
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace,
    });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !customAttributes[name]);
    if (missing.length > 0) {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing),
      });
    }
    return true;
  } catch (error) {
    log(`going on without search attributes: ${error instanceof Error ? error.message : error}`);
    return false;
  } finally {
    await connection.close();
  }
}
