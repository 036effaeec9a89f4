import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { DEFAULT_GUARD, DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { startTestApp } from '../support/test-app.ts'

const guardPolicy = {
  ...DEFAULT_POLICY,
  limits: { ...DEFAULT_GUARD, workflow: { ...DEFAULT_GUARD.workflow, deletes: { perRun: 0 } } },
}

test('the whole app deletes an approved file only as people saw it', async () => {
  const workflow = defineWorkflow({
    id: 'retire',
    on: 'file.created',
    where: ({ data }) => JSON.stringify(data).includes('approved.txt'),
    run: async ({ files }) => {
      const file = await files.find({ service: 'storage_c', path: '/approved.txt' })
      return file && files.delete(file)
    },
  })
  const { dataDir, hear, sandbox } = await startTestApp({ workflows: [workflow] }, { config: { guardPolicy } })
  const storage = sandbox.storage('storage_c')
  const seen = await storage.put('/approved.txt', 'as people saw it')
  const opened = await hear('approval.opened')
  await hear('run.parked', ({ run }) => run === opened.run)
  expect(await storage.put('/approved.txt', 'as nobody saw it')).toMatchObject({ id: seen.id })
  const other = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => other.close())
  const found = await other.findApproval(opened.approval, Date.now())
  const word = { verdict: 'approved', actor: 'anna', reason: null, only: null, answer: null, signature: null } as const
  await other.decideApproval({ ...word, approval: opened.approval, hash: found?.hash ?? '' }, Date.now())
  await hear('run.completed', ({ run }) => run === opened.run)
  expect(JSON.parse((await other.findRun(opened.run))?.output ?? '')).toEqual({ outcome: 'changed', proof: 'verified' })
  expect(String(await storage.read('/approved.txt'))).toBe('as nobody saw it')
})
