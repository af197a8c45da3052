/** The connection of workers; apart from the client's because it loads the native core. */

import { NativeConnection } from "@temporalio/worker";
import { connectionSettings, type ConnectOptions } from "./connect.ts";

/** Connects as `connectClient` does; end with `connection.close()`. */
export async function connectWorker(options: ConnectOptions = {}) {
  const { connectionOptions, namespace } = connectionSettings(options);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}
