/**
 * Connections to Temporal. `TEMPORAL_ADDRESS` and its kin (namespace, API key, TLS, profiles of the
 * Temporal config file) are read as every Temporal tool reads them.
 * @module
 */

import { Client } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection } from "@temporalio/worker";

const DEFAULT_NAMESPACE = "default";

/** A server that runs already, and that the user asked for. */
export interface ExternalServer {
  readonly address: string;
  readonly namespace: string;
}

/** The server the environment names; null when none is named and one has to be started. */
export function externalServer(): ExternalServer | null {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const { address } = connectionOptions;
  return address ? { address, namespace: namespace ?? DEFAULT_NAMESPACE } : null;
}

export interface ConnectOptions {
  /** Of a server we started; without it the environment decides. */
  readonly address?: string;
  readonly namespace?: string;
}

/**
 * For workers and for mains that start, watch and ask; end with `connection.close()`. The native
 * connection, for the other one aborts the process (in the HTTP/2 library of Deno) when a server with
 * open streams says goodbye.
 */
export async function connectTemporal(options: ConnectOptions = {}) {
  const { connectionOptions, namespace } = connectionSettings(options);
  const connection = await NativeConnection.connect(connectionOptions);
  return { connection, client: new Client({ connection, namespace }), namespace };
}

/** The options of any connection: those of the environment for its server, the bare address for ours. */
export function connectionSettings({ address, namespace }: ConnectOptions) {
  const environment = loadClientConnectConfig();
  const ours = address !== undefined && address !== environment.connectionOptions.address;
  // Keys, certificates and namespace belong to the server of the environment, never to one of ours.
  return {
    connectionOptions: ours ? { address } : environment.connectionOptions,
    namespace: namespace ?? (ours ? undefined : environment.namespace) ?? DEFAULT_NAMESPACE,
  };
}
