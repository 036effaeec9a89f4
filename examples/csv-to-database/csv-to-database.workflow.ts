import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { defineWorkflow } from 'upshot'
import { localName } from 'upshot/files'
import { fileCreated } from '../events.ts'

/** Where downloads and the database are. A test sets another folder. */
export const place = { folder: 'data/orders' }

/** Loads each new CSV file into a table, every row once. */
export default defineWorkflow({
  id: 'csv-to-database',
  on: fileCreated,
  where: ({ data }) => data.file.path.endsWith('.csv'),
  async run({ event, files, step }) {
    const { service, file } = event.data
    const { path } = await files.download({ service, id: file.id }, { to: join(place.folder, localName(file.id)) })
    return { rows: await step.run('load', () => load(path, file.id), { target: 'orders' }) }
  },
})

/**
 * A crash may repeat this step, and the second time changes nothing. All rows are one transaction;
 * the key of each is its file and line.
 */
async function load(path: string, fileId: string): Promise<number> {
  const [, ...lines] = (await readFile(path, 'utf8')).trim().split('\n')
  using db = new DatabaseSync(join(place.folder, 'orders.db'))
  db.exec('CREATE TABLE IF NOT EXISTS orders (file TEXT, line INT, customer TEXT, total INT, PRIMARY KEY (file, line))')
  db.exec('BEGIN')
  const insert = db.prepare('INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)')
  for (const [index, line] of lines.entries()) {
    const [customer = '', total = ''] = line.split(',')
    insert.run(fileId, index, customer, Number(total))
  }
  db.exec('COMMIT')
  return lines.length
}
