import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventBody, incoming } from '../../../support/fixtures.ts'
import { DOOR } from '../../../support/program.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

/** The definitions of workflows, by id. */
const CODE = {
  large: `on: 'file.*', where: ({ data }) => data.size > 9`,
  every: `on: 'file.created', concurrency: { limit: 2, key: ({ data }) => data.service }`,
  held: `on: 'file.created'`,
  calling: `on: 'file.created', where: () => fetch('http://127.0.0.1:9/')`,
  other: `on: 'transfer.completed'`,
}

/** A project with an event of a small file, and a folder of workflows that may run on it. */
async function openMatch() {
  const { store, dataDir } = await openTestProject()
  const folder = tempFolder()
  for (const [id, options] of Object.entries(CODE)) {
    const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: '${id}', ${options}, run: () => { throw new Error('a match runs nothing') } })`
    writeFileSync(join(folder, `${id}.workflow.ts`), code)
  }
  const workflows = [{ id: 'held', file: 'held.workflow.ts', eventTypes: ['file.created'], schedule: null }]
  await store.saveWorkflows({ workflows, broken: [] }, Date.now())
  await store.pauseWorkflow('held', Date.now())
  const body = eventBody('evt_small', 'file.created', { service: 'storage_a', size: 3 })
  await store.saveDelivery(incoming('evt_small', { body, workflows: [] }))
  const match = (...args: string[]) => runHere(dataDir, ['events', 'match', ...args, '--workflows', folder])
  return { store, match, folder }
}

test('"events match" says what each workflow makes of an event, and why, without running any', async () => {
  const { store, match } = await openMatch()
  const { stdout, exit } = await match('evt_small')
  expect(exit).toBe(0)
  const lines = stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' | '))
  expect(lines).toEqual([
    'file.created evt_small',
    '',
    'WORKFLOW | ITS RUN | BECAUSE | FILE',
    'every | starts | keys: 2 at a time for "storage_a" | every.workflow.ts',
    expect.stringMatching(/^held \| waits \| pause: paused since 2\S+Z \| held\.workflow\.ts$/),
    'calling | needs a person | where: its `where` returned a promise; it must be synchronous | calling.workflow.ts',
    'large | is skipped | where: returned false | large.workflow.ts',
    '',
    'Not on file.created: other.',
    '',
  ])
  expect(await store.listRuns({ limit: 9 })).toEqual([])
  const { json } = await match('evt_small', '--workflow', 'large', '--json')
  expect(json.data).toMatchObject({
    event: 'evt_small',
    workflows: [
      { workflow: 'large', fate: 'skipped', clauses: [{ name: 'on' }, { name: 'shape' }, { name: 'where' }] },
    ],
  })
})

test('an event that is not stored is read from a file, and a broken module is told beside the others', async () => {
  const { match, folder } = await openMatch()
  const file = join(folder, 'event.json')
  writeFileSync(file, eventBody('evt_large', 'file.created', { service: 'storage_b', size: 30 }))
  writeFileSync(join(folder, 'broken.workflow.ts'), 'nothing.at.all')
  const { stdout, stderr } = await match('--file', file)
  expect(stdout).toMatch(/large +starts +where: returned true/)
  expect(stderr).toContain('broken.workflow.ts cannot be loaded')
})

test('neither or both of an id and a file are refused, and so is a workflow that no module defines', async () => {
  const { match } = await openMatch()
  expect((await match()).stderr).toContain('Name one event, or --file.')
  expect((await match('evt_small', '--file', 'event.json')).exit).toBe(2)
  expect((await match('evt_small', '--workflow', 'nobody')).stderr).toContain('no module defines the workflow "nobody"')
})
