import { testbed } from 'upshot/testing'
import { pathsOf, type Say, tellRuns } from '../shared.ts'
import workflow from './migrate-storage.workflow.ts'

/** 30 files; the last of them arrives a day late. */
export default async function run(say: Say) {
  await using t = await testbed({ workflows: [workflow] })
  const [from, to] = [t.storage('storage_a'), t.storage('storage_b')]
  for (let each = 1; each <= 30; each++) {
    await from.put(`/team/${each}.txt`, `file ${each}`)
    if (each < 30) await to.put(`/team/${each}.txt`, `file ${each}`)
  }
  await t.start(workflow, { folder: '/team' })
  tellRuns(t, say)
  await to.put('/team/30.txt', 'file 30')
  await t.advance('1d')
  tellRuns(t, say)
  const [approval] = await t.approvals()
  if (approval) await t.approve(approval)
  const left = await pathsOf(t, 'storage_a')
  return { asked: approval?.items.length, output: t.run(workflow).output, left: left.length }
}
