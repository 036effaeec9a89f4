import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import type { PackedOutput } from '../../../core/runs/step.ts'

/** The key of a run's own output. */
const OF_RUN = ''

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/**
 * Level 1 of zstd: a listing of 50,000 entries, 8.3 MB, in 16 ms to 1.0 MB and back in 17 ms.
 * Brotli comes as small in the same time, but takes 40 ms back; higher levels of either take longer
 * and gain little on JSON.
 */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Compresses on a thread of Node's pool; neither the event loop nor the writer waits for it. */
export async function packOutput(json: string): Promise<PackedOutput> {
  const bytes = Buffer.from(json)
  return { bytes: bytes.length, data: await compress(bytes, OPTIONS) }
}

/** Results of steps and runs, wherever they lie. */
export class OutputTable {
  readonly #save
  readonly #mark
  readonly #ofStep
  readonly #ofRun
  readonly #packed

  constructor(db: Database) {
    // Index of all: the primary keys of blob, step and run.
    this.#save = db.prepare(
      `INSERT INTO blob (run_id, key, packed) VALUES (?, ?, ?)
       ON CONFLICT (run_id, key) DO UPDATE SET packed = excluded.packed`,
    )
    this.#mark = db.prepare('UPDATE run SET apart_bytes = ? WHERE id = ?')
    this.#ofStep = db
      .prepare<[string, string], string | null>('SELECT output FROM step WHERE run_id = ? AND key = ?')
      .pluck()
    this.#ofRun = db.prepare<[string], string | null>('SELECT output FROM run WHERE id = ?').pluck()
    this.#packed = db.prepare<[string, string], Buffer>('SELECT packed FROM blob WHERE run_id = ? AND key = ?').pluck()
  }

  save(runId: string, key: string, packed: Uint8Array): void {
    this.#save.run(runId, key, packed)
  }

  saveOfRun(runId: string, { bytes, data }: PackedOutput): void {
    this.save(runId, OF_RUN, data)
    this.#mark.run(bytes, runId)
  }

  async read(runId: string, key: string | null): Promise<string> {
    const inRow = key === null ? this.#ofRun.get(runId) : this.#ofStep.get(runId, key)
    if (typeof inRow === 'string') return inRow
    const packed = this.#packed.get(runId, key ?? OF_RUN)
    if (packed) return (await decompress(packed)).toString()
    const whose = key === null ? `Run ${runId}` : `Step "${key}" of run ${runId}`
    throw new UpshotError('not_found', `${whose} has no result in the database.`)
  }
}
