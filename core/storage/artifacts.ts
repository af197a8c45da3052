/** A pointer to stored bytes: bulk never travels through workflow history. */
export interface ArtifactRef {
  /** `sha256:{digest}` in the content-addressed store of this folder. */
  readonly uri: string;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Content-addressed, atomic, verified on read. */
export interface ArtifactStore {
  /** Durable when it returns; storing the same bytes twice keeps one copy. */
  put(bytes: Uint8Array): Promise<ArtifactRef>;
  /** Throws DamagedArtifactError when the bytes are missing or do not match. */
  get(ref: ArtifactRef): Promise<Uint8Array>;
}

/** Results known by the business key of the work that made them. */
export interface Journal {
  /**
   * The recorded result of `key` if it was made from an equal `input`, else runs `work`, records its
   * result durably and returns it. Both are small JSON values.
   */
  once<T>(run: string, key: string, input: unknown, work: () => Promise<T>): Promise<T>;
  /** The newest recorded result of `key`, whatever its input; null when there is none. */
  read<T>(run: string, key: string): Promise<T | null>;
}
