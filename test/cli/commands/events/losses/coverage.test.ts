import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { lookUpDeletes } from '../../../../../src/admin/resources/system/coverage-handlers.ts'
import { defineEvent } from '../../../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../../../src/author/define-workflow.ts'
import { storageName } from '../../../../../src/author/storage-name.ts'
import { TerminalError, UpshotError } from '../../../../../src/core/errors.ts'
import { SweepWorld } from '../../../../schedule/sweep/support/sweep-world.ts'
import { eventBody, incoming, NOW } from '../../../../support/fixtures.ts'
import { openDataDir } from '../../../../support/open-data-dir.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { startTestApp } from '../../../../support/test-app.ts'
import { runCli } from '../../../support/run-cli.ts'
import { runHere } from '../../../support/run-here.ts'

const HOUR = 3_600_000
const SINCE = ['--since', '2026-01-01T00:00:00Z']

function openWorld() {
  const dataDir = tempFolder()
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  return { world: new SweepWorld(store), dataDir, cli: (...args: string[]) => runHere(dataDir, args) }
}

test('"coverage" names each file of which no event told, and exits with 7', async () => {
  const { world, cli } = openWorld()
  const [gone = ''] = Array.from({ length: 30 }, () => world.add())
  await world.run(HOUR)
  expect(await cli('coverage', ...SINCE)).toMatchObject({ exit: 0 })
  const told = world.add()
  await world.tell('file.created', told)
  const lost = world.add()
  world.files.delete(gone)
  await world.tell('file.deleted', gone)
  await world.run(7 * HOUR)
  const shown = await cli('coverage', ...SINCE)
  expect(shown.exit).toBe(7)
  expect(shown.stdout).toMatch(/new +2 +1 told by file.created, 1 missing/)
  expect(shown.stdout).toMatch(/gone +1 +1 told by file.deleted/)
  expect(shown.stdout).toMatch(new RegExp(`${lost} +/in/${lost} +file.created`))
  expect(shown.stdout).toContain('transfers that never told: the service lists none')
  const { data: json } = JSON.parse((await cli('coverage', ...SINCE, '--json')).stdout)
  expect(json).toMatchObject({
    storages: [{ storage: 'storage_a', known: 31, arrived: 2, arrivedReported: 1, gone: 1, goneReported: 1 }],
    findings: [{ file: lost, state: 'missing' }],
  })
  expect(json.findings[0]).not.toHaveProperty('entry')
})

test('"coverage" exits with 8 where no definition says which file its events are about', async () => {
  const { world, cli } = openWorld()
  world.functions = new Map()
  world.add()
  await world.run(7 * HOUR)
  expect(await cli('coverage', ...SINCE)).toMatchObject({ exit: 8, stdout: expect.stringContaining('has `file`') })
})

test('"coverage --transfers" names the transfers of an export of which no event told', async () => {
  const { world, cli, dataDir } = openWorld()
  const body = eventBody('evt_t', 'transfer.completed', { transfer: { id: 'trf_1' } })
  await world.store.saveDelivery(incoming('evt_t', { body, receivedAt: NOW }))
  const list = join(dataDir, 'list.csv')
  writeFileSync(list, '\uFEFFname,id\r\n"a, ""b""",trf_1\r\nother,trf_2\r\n')
  const shown = await cli('coverage', ...SINCE, '--transfers', list)
  expect(shown).toMatchObject({ exit: 7, stdout: expect.stringContaining('✗ no event told of transfer trf_2') })
  expect(shown.stdout).not.toContain('transfer trf_1')
  expect(shown.stdout).toContain('no defineEvent of this type has `file`')
  writeFileSync(list, 'name,id\n,trf_1\n,trf_2\n"",trf_3,\n')
  const { stdout } = await cli('coverage', ...SINCE, '--transfers', list)
  expect(stdout.match(/(?<=transfer )trf_\d/g)).toEqual(['trf_2', 'trf_3'])
  writeFileSync(list, 'name,size\n')
  expect(await cli('coverage', ...SINCE, '--transfers', list)).toMatchObject({ exit: 2 })
})

test('"approvals show" says which events a repair makes up, and speaks of no runs', async () => {
  const { world, cli } = openWorld()
  world.plan = { ...world.plan, repair: 'events' }
  for (let n = 0; n < 20; n++) world.add()
  await world.run(HOUR)
  const lost = [world.add(), world.add()]
  await world.run(7 * HOUR)
  const [approval] = await world.store.listApprovals({ limit: 9, now: world.clock.now() })
  const { stdout, stderr } = await cli('approvals', 'show', approval?.id ?? '')
  expect(stdout).toContain('repair: no event told of 2 of the 22 files of storage_a')
  expect(stdout).toContain('It makes up 2 of 2 events, account default.')
  for (const file of lost) expect(stdout).toMatch(new RegExp(`file.created +/in/${file} +storage_a:${file} +open`))
  expect(stdout).not.toMatch(/asks:|runs|RUN|--ahead/)
  expect(stderr).not.toContain('--ahead')
})

const fileCreated = defineEvent('file.created', {
  data: z.looseObject({ service: storageName, file: z.looseObject({ id: z.string(), path: z.string() }) }),
})

test('"coverage --look-up" asks the service for deleted files, and each failed run is named', async () => {
  const remove = defineWorkflow({
    id: 'remove',
    on: fileCreated,
    where: ({ data }) => data.service === 'storage_c' && data.file.path.endsWith('.txt'),
    run: ({ event, files }) => {
      if (event.data.file.path === '/odd.txt') throw new TerminalError('it is odd')
      return files.delete({ service: event.data.service, id: event.data.file.id })
    },
  })
  const { sandbox, dataDir, hear } = await startTestApp({ workflows: [remove] })
  const storage = sandbox.storage('storage_c')
  await storage.put('/one.txt', '1')
  await hear('run.completed')
  await storage.put('/odd.txt', '2')
  const { run: failed } = await hear('run.failed')
  const cli = (...args: string[]) => runHere(dataDir, ['coverage', ...args])
  // No storage was swept, so nobody can tell whether an event was lost.
  expect(await cli()).toMatchObject({ exit: 8, stdout: expect.stringContaining(`✗ ${failed} of remove failed`) })
  expect((await cli()).stdout).toMatch(
    /events file.created +5 [\s\S]*runs of remove +5 +1 completed, 1 failed, 3 skipped/,
  )
  const later = new Date(Date.now() + HOUR).toISOString()
  expect((await cli('--since', later)).stdout).toMatch(/events file.created +0 [\s\S]*runs of remove +0/)
  expect((await cli()).stdout).not.toContain('looked up')
  // In a process of its own, which ends though it had a client of the service.
  expect((await runCli(dataDir, ['coverage', '--look-up'])).stdout).toMatch(
    /deletes +1 +1 deleted; 1 looked up: none is there/,
  )
})

test('a deleted file that the service has is named, and one in no storage of ours is not asked for', async () => {
  const get = async ({ id }: { id: string }) => {
    if (id === 'never') throw new UpshotError('not_found', 'It is gone.')
    return { id }
  }
  const ask = async (_account: string, question: (files: object) => unknown) => question({ get })
  const service = { files: { ask }, defaultAccount: () => ({ storages: {} }) } as never
  const targets = ['storage_c:never', 'storage_c:kept', 'elsewhere:1']
  const looked = await lookUpDeletes(service, targets, new AbortController().signal)
  expect(looked).toEqual({ asked: 2, there: ['storage_c:kept'] })
})
