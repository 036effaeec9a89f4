import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { UpshotError } from '../../../../core/errors.ts'

/** The ids of a CSV file with a column `id` in its first line. Throws `invalid_request`. */
export async function readTransferIds(path: string): Promise<string[]> {
  const ids = new Set<string>()
  let column = -1
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    for await (const line of lines) {
      const cells = readCells(line.replace(/^\uFEFF/, ''))
      const id = cells[column]
      if (column === -1) column = requireColumn(cells, path)
      else if (id !== undefined && id !== '') ids.add(id)
    }
  } catch (error) {
    if (error instanceof UpshotError) throw error
    throw new UpshotError('invalid_request', `${path} cannot be read: ${(error as Error).message}.`)
  }
  return [...ids]
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
