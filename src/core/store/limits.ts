export interface KeptLimit {
  /** JSON of the Files client's own. */
  state: string
  /** Rises with each change. */
  version: number
}

export interface LimitWrites {
  /**
   * Replaces what {@link ReadStore.loadLimit} gave if nobody has replaced it since; false when
   * somebody has. A key that has nothing yet has version 0.
   */
  saveLimit(key: string, state: string, version: number): Promise<boolean>
}

export interface LimitReads {
  /**
   * What the processes that use an API key have agreed on; `key` is a hash of it. Null when there
   * is nothing yet.
   */
  loadLimit(key: string): Promise<KeptLimit | null>
}
