import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crashEverywhere } from 'upshot/testing'
import { type Say, scratchFolder } from '../shared.ts'
import workflow, { place } from './csv-to-database.workflow.ts'

/** Loads a file, and does it again with a crash at each write. No order is there twice. */
export default async function run(say: Say) {
  await using folder = await scratchFolder()
  place.folder = folder.path
  const { crashes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    await t.storage('storage_a').put('/orders.csv', 'customer,total\nanna,10\nbert,20\n')
    await t.send(t.emitted('file.created'))
    return t.run(workflow).output
  })
  say(`ran ${crashes} times with a crash`)
  using db = new DatabaseSync(join(folder.path, 'orders.db'))
  const [sums] = db.prepare('SELECT max(n) AS orders FROM (SELECT count(*) AS n FROM orders GROUP BY file)').all()
  return { orders: sums?.orders, hasCrashed: crashes > 5 }
}
