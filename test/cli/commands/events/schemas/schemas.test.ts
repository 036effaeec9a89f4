import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../../../src/author/define-event.ts'
import { nameTypes } from '../../../../../src/cli/commands/events/schemas/generate.ts'
import { eventBody, incoming } from '../../../../support/fixtures.ts'
import { openDataDir } from '../../../../support/open-data-dir.ts'
import { DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runHere } from '../../../support/run-here.ts'

/** A project whose workflows folder holds `module`, with as many events of two types. */
async function openTraffic(count: number, module: string) {
  const dataDir = tempFolder()
  const workflows = join(dataDir, 'workflows')
  mkdirSync(workflows)
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const send = (type: string, n: number, data: object) =>
    store.saveDelivery(incoming('', { body: eventBody(`evt_${type}_${n}`, type, data), receivedAt: Date.now() }))
  for (let n = 0; n < count; n++) {
    await send('file.created', n, {
      service: 'Storage-A',
      file: { id: `fil_${n + 100_000}`, path: `/in/${n}`, size: n },
    })
    const isDone = n % 2 === 0
    await send('transfer.completed', n, {
      transfer: { status: isDone ? 'completed' : 'failed', ...(isDone ? {} : { error: `no ${n}` }) },
    })
  }
  writeFileSync(join(workflows, 'a.workflow.ts'), module)
  const cli = (...args: string[]) => runHere(dataDir, args, { env: { UPSHOT_WORKFLOWS_DIR: workflows } })
  return { dataDir, workflows, send, cli }
}

/** A workflow on the generated definition. */
const follow = `
import { defineWorkflow } from '${DOOR}'
import { fileCreated } from './events.gen.ts'
export default defineWorkflow({ id: 'follow', on: fileCreated, async run() {} })
`

test('"types generate" writes a module that takes the events it was made from, and "types check" says so', async () => {
  // Another module of this process, which is not in the folder.
  defineEvent('other.test', { data: z.looseObject({}), keys: { thing: () => 'x' } })
  const { workflows, cli, send } = await openTraffic(50, follow)
  const out = join(workflows, 'events.gen.ts')
  const made = await cli('types', 'generate', '--out', out)
  expect(made).toMatchObject({ exit: 0, stdout: '', stderr: 'Types: 2. Events: 100.\n' })
  const text = readFileSync(out, 'utf8')
  expect(text).toContain(`export const fileCreated = defineEvent('file.created', {`)
  expect(text).toContain(`status: z.literal('failed'),`)
  const shown = await cli('types', 'generate', 'transfer.*')
  expect(shown.stdout).toContain('transferCompleted')
  expect(shown.stdout).not.toContain('fileCreated')
  const twice = await cli('types', 'generate', 'transfer.*', 'transfer.completed', '--json')
  expect(twice.json.data.types).toEqual([{ type: 'transfer.completed', events: 50 }])
  const own = join(workflows, 'a.workflow.ts')
  expect(await cli('types', 'generate', '--out', own)).toMatchObject({ exit: 3 })
  expect(await cli('types', 'generate', '--out', own, '--dry-run')).toMatchObject({ exit: 0 })
  expect(readFileSync(own, 'utf8')).toBe(follow)
  const one = await cli('events', 'show', 'evt_file.created_7', '--redacted')
  expect(JSON.parse(one.stdout)).toEqual({
    type: 'file.created',
    data: {
      service: 'Storage-A',
      file: { id: expect.stringMatching(/^fil_\d{6}$/), path: expect.stringMatching(/^\/[a-z]{2}\/\d$/), size: 7 },
    },
  })
  expect(one.stdout).not.toContain('fil_100007')
  writeFileSync(out, text.replace(`'upshot'`, `'${DOOR}'`))

  expect(await cli('types', 'check', '--json')).toMatchObject({
    exit: 0,
    json: {
      data: {
        definitions: [{ type: 'file.created', workflows: ['follow'], events: 50, misfits: 0 }],
        drifts: [],
        noticed: [],
      },
    },
  })

  await send('file.created', 99, {
    service: 'storage_a',
    file: { id: 'fil_1000000', path: '/in/x', size: '12', tags: [] },
  })
  const { exit, json } = await cli('types', 'check', '--json')
  expect({ exit, data: json.data }).toEqual({
    exit: 7,
    data: {
      definitions: [
        {
          type: 'file.created',
          workflows: ['follow'],
          events: 51,
          misfits: 1,
          first: { event: 'evt_file.created_99', at: 'data.file.size', fault: expect.stringContaining('expected') },
        },
      ],
      noticed: [],
      drifts: [
        {
          type: 'file.created',
          changes: ['data.file.size: text, was integer', 'data.file.tags: list, is new'],
        },
      ],
    },
  })
  expect((await cli('types', 'check')).stdout).toContain('file.created has changed:\n  data.file.size')
})

test('"types generate" writes storageName for what the account calls its storages, and nowhere by chance', async () => {
  const { cli, send, dataDir } = await openTraffic(0, follow)
  for (const [n, service] of ['docs', 'My Desktop', 'sync'].entries())
    await send('file.updated', n, { service, to: { targetStorage: 'docs' }, state: 'sync' })
  const env = {
    SERVICE_BASE_URL: 'https://api.example.com/v1',
    SERVICE_API_KEY: 'sk_of_the_shop_4711',
    SERVICE_WEBHOOK_SECRET: 'a secret of twenty-four bytes',
    SERVICE_STORAGE_A: 'docs',
    SERVICE_STORAGE_B: 'my desktop',
    SERVICE_STORAGE_C: 'sync',
  }
  const { stdout } = await runHere(dataDir, ['types', 'generate'], { env })
  expect(stdout).toContain(`import { defineEvent, storageName, z } from 'upshot'`)
  expect(stdout).toContain('service: storageName,')
  expect(stdout).toContain('targetStorage: storageName,')
  expect(stdout).toContain('state: z.string(),')
  expect((await cli('types', 'generate')).stdout).toContain('service: z.string(),')
  const shown = await runHere(dataDir, ['events', 'show', 'evt_file.updated_1', '--redacted'], { env })
  expect(JSON.parse(shown.stdout).data).toMatchObject({ service: 'My Desktop', to: { targetStorage: 'docs' } })
})

test('"types generate" without events, and "types check" beside a broken module or file, say what to do', async () => {
  const { cli, workflows } = await openTraffic(0, 'import "./none.ts"')
  expect(await cli('types', 'generate', 'file.gone')).toMatchObject({
    exit: 5,
    stderr: expect.stringContaining('--since 90d'),
  })
  expect(await cli('types', 'check')).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('a.workflow.ts does not load'),
  })
  writeFileSync(join(workflows, 'a.workflow.ts'), 'process.exit(0)')
  expect(await cli('types', 'check')).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/a\.workflow\.ts does not load.*process\.exit/s),
  })
  writeFileSync(join(workflows, 'events.shapes.json'), '{"file.created": {"": "thing"}}')
  expect(await cli('types', 'check')).toMatchObject({ exit: 2, stderr: expect.stringContaining('types generate') })
})

test('each type gets a name of its own that is no word of the language', () => {
  const names = nameTypes(['file.created', 'file-created', 'delete', '7.up', 'scan.Done'])
  expect(Object.fromEntries(names)).toEqual({
    'file.created': 'fileCreated',
    'file-created': 'fileCreated2',
    delete: 'eventDelete',
    '7.up': 'event7Up',
    'scan.Done': 'scanDone',
  })
})
