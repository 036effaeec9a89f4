import { expect, onTestFinished, test, vi } from 'vitest'
import { askSecret } from '../../../src/cli/terminal/confirm.ts'
import { openTerminal } from '../support/fake-terminal.ts'

const SECRET = 'sk_live_canary_of_the_accounts'

test('a secret is asked for at a terminal, without echo', async () => {
  const { out, streams, seen } = openTerminal()
  vi.stubEnv('CI', '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const asked = askSecret(out, 'API key of account "shop"')
  streams.stdin.write(`${SECRET}\r`)
  expect(await asked).toBe(SECRET)
  expect(seen.stderr).toContain('API key of account "shop"')
  expect(seen.stdout + seen.stderr).not.toContain('canary')
  expect(await askSecret(openTerminal(['--no-input']).out, 'API key')).toBeUndefined()
})
