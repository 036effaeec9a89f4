import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { explainConfig } from '../../../../src/project/config/explain-config.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { WEBHOOK_SECRET } from '../../../support/test-config.ts'
import { runHere } from '../../support/run-here.ts'
import { serviceEnv } from '../../support/service-env.ts'

test('config show names the source of each setting: environment, .env, file or default', async () => {
  const root = tempFolder()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/upshot.config.ts'), `export default { slots: 7, drain: '3s' }`)
  const environment = { UPSHOT_HOST: '0.0.0.0', UPSHOT_PORT: '4800', UPSHOT_LOG_LEVEL: 'warn' }
  const settings = await explainConfig(environment, root, {
    adopted: new Set(['UPSHOT_LOG_LEVEL']),
  })
  const find = (name: string) => settings.find(({ setting }) => setting === name)
  expect(find('UPSHOT_PORT')).toMatchObject({ value: '4800', origin: 'environment' })
  expect(find('UPSHOT_HOST')).toMatchObject({ value: '0.0.0.0', origin: 'environment' })
  expect(find('UPSHOT_LOG_LEVEL')).toMatchObject({ value: 'warn', origin: '.env' })
  expect(find('slots')).toMatchObject({ value: '7', origin: 'file', from: 'config/upshot.config.ts' })
  expect(find('drainMs')).toMatchObject({ value: '3000', origin: 'file' })
  expect(find('receive.bodyBytes')).toMatchObject({ origin: 'default' })
  expect(find('UPSHOT_ADMIN_PORT')).toMatchObject({ value: '4701', origin: 'default' })
})

test('config show says that a secret is set, and shows nothing of it', async () => {
  const env = { ...serviceEnv('https://api.example.com/v1', 'canary-key'), UPSHOT_SECRET_KEY: 'canary-vault' }
  for (const form of [['--json'], ['--ndjson'], []]) {
    const { exit, stdout, stderr } = await runHere(tempFolder(), ['config', 'show', '--origins', ...form], { env })
    expect(exit).toBe(0)
    expect(stdout).toContain('(hidden)')
    for (const secret of ['canary', WEBHOOK_SECRET]) expect(stdout + stderr).not.toContain(secret)
  }
})

test('--config names the project file, and a missing file is refused', async () => {
  const file = join(tempFolder(), 'other.config.ts')
  writeFileSync(file, 'export default { slots: 9 }')
  const shown = await runHere(tempFolder(), ['config', 'show', '--config', file, '--json'])
  expect(shown.json.data).toContainEqual({ setting: 'slots', value: '9' })
  const missing = await runHere(tempFolder(), ['runs', 'list', '--config', '/nowhere.ts', '--json'])
  expect(missing).toMatchObject({ exit: 2, json: { error: { code: 'invalid_config' } } })
})
