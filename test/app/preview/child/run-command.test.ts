import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { runCommand } from '../../../../src/app/preview/child/run-command.ts'
import { loadConfig } from '../../../../src/project/config/load-config.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

afterEach(() => vi.unstubAllEnvs())

const config = () => ({ dataDir: tempFolder(), workflowsDir: tempFolder(), service: { kind: 'sandbox' } }) as const
const bounds = { signal: new AbortController().signal, withinMs: 60_000, mostBytes: 1_000_000 }

test('a command runs on the project of the app, and with the sandbox where the app has it', async () => {
  // One variable of the service alone is no valid configuration.
  vi.stubEnv('SERVICE_BASE_URL', 'https://service.example/v1')
  const project = config()
  const data = JSON.stringify(await runCommand(project, ['config', 'show'], bounds))
  expect(data).toContain(project.dataDir)
  expect(data).not.toContain('service.example')
  const configFile = join(tempFolder(), 'other.config.mjs')
  writeFileSync(configFile, 'export default { guard: { workflow: { deletes: { perRun: 7_321 } } } }\n')
  const named = await loadConfig({}, tempFolder(), { configFile })
  expect(JSON.stringify(await runCommand({ ...named, ...project }, ['config', 'show'], bounds))).toContain('7321')
})

test('a refusal is thrown as the command gives it, and a command that is cut off has its own', async () => {
  const refused = runCommand(config(), ['approvals', 'show', 'apr_0'], bounds)
  await expect(refused).rejects.toMatchObject({ code: 'not_found' })
  const cut = { code: 'internal', message: '"upshot version" did not come to an end.' }
  for (const more of [{ withinMs: 1 }, { mostBytes: 3 }, { signal: AbortSignal.abort() }]) {
    await expect(runCommand(config(), ['version'], { ...bounds, ...more })).rejects.toMatchObject(cut)
  }
  const aborted = runCommand(config(), ['version'], { ...bounds, signal: AbortSignal.abort() })
  await expect(aborted).rejects.toMatchObject({ cause: { name: 'AbortError' } })
})
