/** A body that is being read. */
export interface Upload {
  /** Bytes so far. */
  readonly length: number
  cutOff(): void
}

/** Looks in a row that find less than the minimum before a body is given up. */
const MAX_SLOW_LOOKS = 3

/** Gives up bodies that come too slowly, so that no sender holds memory by waiting. */
export class UploadWatch {
  readonly #minBytes: number
  readonly #everyMs: number
  readonly #uploads = new Set<Upload>()
  /** Length at the last look, and how often it grew too little since. */
  #seen = new Map<Upload, { length: number; slowLooks: number }>()
  #timer: NodeJS.Timeout | null = null

  /** `minBytes` of each body are to arrive between two looks. */
  constructor({ minBytes, everyMs }: { minBytes: number; everyMs: number }) {
    this.#minBytes = minBytes
    this.#everyMs = everyMs
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), this.#everyMs).unref()
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }

  add(upload: Upload): void {
    this.#uploads.add(upload)
  }

  remove(upload: Upload): void {
    this.#uploads.delete(upload)
  }

  #look(): void {
    const before = this.#seen
    this.#seen = new Map()
    for (const upload of [...this.#uploads]) {
      const { length = 0, slowLooks = 0 } = before.get(upload) ?? {}
      const isSlow = upload.length - length < this.#minBytes
      this.#seen.set(upload, { length: upload.length, slowLooks: isSlow ? slowLooks + 1 : 0 })
      if (isSlow && slowLooks + 1 >= MAX_SLOW_LOOKS) upload.cutOff()
    }
  }
}
