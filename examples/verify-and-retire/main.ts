import { testbed } from 'upshot/testing'
import { pathsOf, type Say, tellRuns, transfer } from '../shared.ts'
import retire from './verify-and-retire.workflow.ts'

/** Transfers two files, and spoils the copy of the second before the grace is over. */
export default async function run(say: Say) {
  await using t = await testbed({ workflows: [retire] })
  await t.send(await transfer(t, '/good.txt', 'the report'))
  await t.send(await transfer(t, '/bad.txt', 'the report'))
  await t.storage('storage_b').put('/bad.txt', 'the rep0rt')
  tellRuns(t, say)
  await t.advance('15m')
  tellRuns(t, say)
  return { outputs: t.runs().map(({ output }) => output), left: await pathsOf(t, 'storage_a') }
}
