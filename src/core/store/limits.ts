/** The shared state of an API key's request limit. See decision 22. */
export interface KeptLimit {
  /** JSON text of the Files client. */
  state: string
  /** Rises with each change. */
  version: number
}

export interface LimitWrites {
  /**
   * Compare-and-set: replaces the state of `version`; false when another process was first. A key
   * without state has version 0.
   */
  saveLimit(key: string, state: string, version: number): Promise<boolean>
}

export interface LimitReads {
  /**
   * The state shared by all processes that use an API key; `key` is its hash. Null when there is
   * none yet.
   */
  loadLimit(key: string): Promise<KeptLimit | null>
}
