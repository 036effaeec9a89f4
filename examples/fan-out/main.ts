import { testbed } from 'upshot/testing'
import type { Say } from '../shared.ts'
import workflow from './fan-out.workflow.ts'

const FILES = 10_000

/** One run over 10,000 files. */
export default async function run(say: Say) {
  await using t = await testbed({ workflows: [workflow] })
  const storage = t.storage('storage_a')
  for (let each = 0; each < FILES; each++) await storage.put(`/many/${each}.${each % 4 === 0 ? 'txt' : 'bin'}`, '')
  say(`${FILES} files are there`)
  const began = performance.now()
  const run = await t.start(workflow, { folder: '/many' })
  say(`${run.steps().length} steps in ${Math.round((performance.now() - began) / 1_000)} s`)
  return run.output
}
