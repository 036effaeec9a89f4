import { afterEach, expect, test, vi } from 'vitest'
import { runCommand } from '../../../src/app/preview/child/run-command.ts'
import { tempFolder } from '../../support/temp-folder.ts'

afterEach(() => vi.unstubAllEnvs())

const config = () => ({ dataDir: tempFolder(), workflowsDir: tempFolder(), service: { kind: 'sandbox' } }) as const
const bounds = { signal: new AbortController().signal, withinMs: 60_000, mostBytes: 1_000_000 }

test('a command runs on the project of the app, and with the sandbox where the app has it', async () => {
  // One variable of the service alone is no valid configuration.
  vi.stubEnv('SERVICE_BASE_URL', 'https://service.example/v1')
  const project = config()
  const { document, error } = await runCommand(project, ['config', 'show'], bounds)
  expect([error, document?.error]).toEqual([null, undefined])
  expect(JSON.stringify(document?.data)).toContain(project.dataDir)
  expect(JSON.stringify(document?.data)).not.toContain('service.example')
})

test('a refusal is a document, and a command that is cut off leaves none', async () => {
  const refused = await runCommand(config(), ['approvals', 'show', 'apr_0'], bounds)
  expect(refused.document?.error).toMatchObject({ code: 'not_found' })
  expect((await runCommand(config(), ['version'], { ...bounds, withinMs: 1 })).document).toBeUndefined()
  const aborted = await runCommand(config(), ['version'], { ...bounds, signal: AbortSignal.abort() })
  expect([aborted.document, aborted.error?.name]).toEqual([undefined, 'AbortError'])
  expect((await runCommand(config(), ['version'], { ...bounds, mostBytes: 3 })).document).toBeUndefined()
})
