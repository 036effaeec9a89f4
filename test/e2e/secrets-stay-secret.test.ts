import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jsonLines } from '../../src/notices/log/json-lines.ts'
import { logNotices } from '../../src/notices/log/log-notices.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import type { CliResult } from '../cli/support/run-cli.ts'
import { runHere } from '../cli/support/run-here.ts'
import { collectLog } from '../support/collect-log.ts'
import { startTestApp } from '../support/test-app.ts'

// The test runs some thirty commands.
vi.setConfig({ testTimeout: 120_000 })

const SECRET = 'whcanary-given-to-the-endpoint-0123456789'
const NEXT = 'whcanary-given-to-the-rotation-0123456789'
const KEY = 'sk_live_keycanary_of_the_account'
const FALLBACK = 'sk_live_keycanary_of_the_fallback'
const STORAGES = ['--storage-a', 'a', '--storage-b', 'b', '--storage-c', 'c']

test('secrets appear in no output, log line or file, except where a command shows a new one once', async () => {
  const notices = createNoticeBus()
  const log: string[] = []
  logNotices(notices, { level: 'debug', lines: jsonLines(), destination: collectLog(log) })
  const { dataDir, urls } = await startTestApp({ notices })
  const env = { SECRET, NEXT, KEY, FALLBACK, SHORT: 'whcanary-short' }
  const outputs: CliResult[] = []
  const upshot = async (...args: string[]) => {
    outputs.push(await runHere(dataDir, [...args, '--json'], { env }))
  }
  const shown: string[] = []
  const showing = async (...args: string[]) => {
    shown.push((await runHere(dataDir, [...args, '--json'], { env })).json.data.secret)
  }

  const base = ['--base-url', 'https://api.example.com/v1', ...STORAGES]
  await upshot('accounts', 'add', 'shop', ...base, '--key-env', 'KEY', '--fallback-env', 'FALLBACK')
  await upshot('accounts', 'edit', 'shop', '--plan', 'pro')
  await upshot('accounts', 'add', 'wrong', '--base-url', urls.receiver, ...STORAGES, '--key-env', 'KEY')
  await upshot('accounts', 'list')
  await upshot('accounts', 'show', 'shop')
  await upshot('endpoints', 'add', 'given', '--secret-env', 'SECRET')
  await upshot('endpoints', 'add', 'weak', '--secret-env', 'SHORT')
  await showing('endpoints', 'add', 'made')
  await upshot('endpoints', 'test', 'given')
  await upshot('endpoints', 'rotate', 'given', '--secret-env', 'NEXT')
  await upshot('endpoints', 'rotate', 'given', '--secret-env', 'SHORT')
  await upshot('endpoints', 'pin', 'given', '--scheme', '{"secret":"base64"}')
  await upshot('endpoints', 'send', `${urls.receiver}/hooks/none`, '--secret-env', 'NEXT')
  await showing('endpoints', 'rotate', 'made', '--overlap', '0')
  await upshot('endpoints', 'test', 'made')
  for (const name of ['given', 'made']) await upshot('endpoints', 'show', name)
  for (const name of ['given', 'made']) outputs.push(await runHere(dataDir, ['endpoints', 'show', name]))
  await upshot('endpoints', 'list')
  await upshot('endpoints', 'edit', 'given', '--events', 'file.*')
  await upshot('deliveries', 'list')
  await upshot('endpoints', 'rotate', 'given', '--retire')
  await upshot('accounts', 'remove', 'shop', '--yes')
  await upshot('endpoints', 'remove', 'given', '--yes')

  expect(shown.every((secret) => typeof secret === 'string' && secret.length >= 24)).toBe(true)
  const secrets = [SECRET, NEXT, KEY, FALLBACK, ...shown]
  const holds = (text: string) => secrets.filter((secret) => text.includes(secret))
  expect(outputs.flatMap(({ stdout, stderr }) => holds(stdout + stderr))).toEqual([])
  expect(outputs.some(({ stdout }) => stdout.includes('whcanary-short'))).toBe(false)
  expect(log.join('')).toContain('delivery accepted')
  expect(holds(log.join(''))).toEqual([])
  const files = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.map(({ name }) => name)).toContain('upshot.db')
  expect(files.filter(({ name }) => holds(readFileSync(join(dataDir, name), 'latin1')).length > 0)).toEqual([])
})
