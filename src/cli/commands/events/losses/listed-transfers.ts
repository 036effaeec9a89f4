import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { UpshotError } from '../../../../core/errors.ts'

/** The transfers of an export, of which events tell or do not. */
export class ListedTransfers {
  /** By id, true where an event told of it. */
  readonly #ids: Map<string, boolean>

  private constructor(ids: Map<string, boolean>) {
    this.#ids = ids
  }

  /** Reads a CSV file with a column `id` in its first line. Throws `invalid_request`. */
  static async read(path: string): Promise<ListedTransfers> {
    const ids = new Map<string, boolean>()
    let column = -1
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
    try {
      for await (const line of lines) {
        const cells = readCells(line.replace(/^\uFEFF/, ''))
        const id = cells[column]
        if (column === -1) column = requireColumn(cells, path)
        else if (id !== undefined && id !== '') ids.set(id, false)
      }
    } catch (error) {
      if (error instanceof UpshotError) throw error
      throw new UpshotError('invalid_request', `${path} cannot be read: ${(error as Error).message}.`)
    }
    return new ListedTransfers(ids)
  }

  /** Marks the transfers that an event of a transfer names anywhere in its `data`. */
  take(body: string, type: string): void {
    if (!type.startsWith('transfer.') || body === '') return
    markIn(JSON.parse(body).data, this.#ids)
  }

  get count(): number {
    return this.#ids.size
  }

  /** Ids of which no event told, in the order of the file. */
  get untold(): string[] {
    return [...this.#ids].flatMap(([id, isTold]) => (isTold ? [] : [id]))
  }
}

function requireColumn(cells: readonly string[], path: string): number {
  const column = cells.findIndex((cell) => /^(?:transfer[ _-]?)?id$/i.test(cell))
  if (column !== -1) return column
  throw new UpshotError('invalid_request', `${path} has no column "id" or "transfer_id" in its first line.`)
}

/** A cell may be in quotes, within which a doubled one is one. */
function readCells(line: string): string[] {
  const cells = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...cells].map(([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim())
}

function markIn(value: unknown, ids: Map<string, boolean>): void {
  if (typeof value === 'string' && ids.has(value)) ids.set(value, true)
  if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) markIn(each, ids)
}
