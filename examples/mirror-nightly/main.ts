import { globSync } from 'node:fs'
import { testbed } from 'upshot/testing'
import { type Say, scratchFolder, tellRuns } from '../shared.ts'
import workflow, { mirror } from './mirror-nightly.workflow.ts'

/** Runs through one night, in which the first download is cut after three bytes. */
export default async function run(say: Say) {
  await using folder = await scratchFolder()
  mirror.folder = folder.path
  await using t = await testbed({ workflows: [workflow] })
  for (const name of ['a', 'b', 'c']) await t.storage('storage_a').put(`/in/${name}.txt`, `file ${name}`)
  t.faults.add({ on: 'download', cutAfterBytes: 3, times: 1 })
  await t.advance('1d')
  tellRuns(t, say)
  const copies = globSync('*/*.txt', { cwd: folder.path }).map((path) => path.split('/').at(-1))
  return { output: t.run(workflow).output, copies: copies.sort() }
}
