import { testbed } from 'upshot/testing'
import { type Say, tellRuns } from '../shared.ts'
import workflow from './two-accounts.workflow.ts'

/** The same file comes to both accounts; only one of them takes it in from this folder. */
export default async function run(say: Say) {
  await using t = await testbed({ workflows: [workflow], accounts: ['archive'] })
  await t.storage('storage_a').put('/intake/letter.txt', 'Dear Anna')
  const { data } = t.emitted('file.created')
  await t.send('file.created', data as object)
  await t.send('file.created', data as object, { account: 'archive' })
  tellRuns(t, say)
  return t.runs().map(({ output }) => output)
}
