import { testbed } from 'upshot/testing'
import { type Say, tellRuns, transfer } from '../shared.ts'
import retire from '../verify-and-retire/verify-and-retire.workflow.ts'

/** A workflow in two workers that share a PostgreSQL. The restart kills both. */
export default async function run(say: Say, databaseUrl = process.env.UPSHOT_DATABASE_URL) {
  if (databaseUrl === undefined) throw new Error('Set UPSHOT_DATABASE_URL, such as postgres://localhost/test.')
  await using t = await testbed({ workflows: [retire], databaseUrl, workers: 2, slots: 1 })
  for (const name of ['a', 'b', 'c', 'd']) await t.send(await transfer(t, `/${name}.txt`, name))
  tellRuns(t, say)
  await t.restart()
  await t.advance('15m')
  return t.runs().map(({ output }) => output)
}
