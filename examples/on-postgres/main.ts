import { testbed } from 'upshot/testing'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { type Say, tellRuns, transfer } from '../shared.ts'
import retire from '../verify-and-retire/verify-and-retire.workflow.ts'

/** A workflow in two workers that share a PostgreSQL. The restart kills both. */
export default async function run(say: Say) {
  await using server = await openServer(say)
  await using t = await testbed({ workflows: [retire], databaseUrl: server.url, workers: 2, slots: 1 })
  for (const name of ['a', 'b', 'c', 'd']) await t.send(await transfer(t, `/${name}.txt`, name))
  tellRuns(t, say)
  await t.restart()
  await t.advance('15m')
  return t.runs().map(({ output }) => output)
}

/** Your server, or one that is started for the example and deleted after it. */
async function openServer(say: Say) {
  const { UPSHOT_DATABASE_URL: own } = process.env
  if (own !== undefined) return { url: own, [Symbol.asyncDispose]: async () => {} }
  const { url, port, stop } = await startPostgres()
  say(`A PostgreSQL of its own listens on port ${port}.`)
  return { url, [Symbol.asyncDispose]: stop }
}
