import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { askSecret } from '../../../src/cli/terminal/confirm.ts'
import { createOutput, readGlobalOptions } from '../../../src/cli/terminal/output.ts'

const SECRET = 'sk_live_canary_of_the_accounts'

test('a secret is asked for at a terminal, without echo', async () => {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  for (const stream of Object.values(streams)) Object.assign(stream, { isTTY: true })
  let seen = ''
  for (const stream of [streams.stdout, streams.stderr]) stream.on('data', (chunk) => (seen += chunk))
  vi.stubEnv('CI', '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const asked = askSecret(createOutput(readGlobalOptions([]), streams), 'API key of account "shop"')
  streams.stdin.write(`${SECRET}\r`)
  expect(await asked).toBe(SECRET)
  expect(seen).toContain('API key of account "shop"')
  expect(seen).not.toContain('canary')
  expect(await askSecret(createOutput(readGlobalOptions(['--no-input']), streams), 'API key')).toBeUndefined()
})
