import { expect, test } from 'vitest'
import { SecretWatch } from '../../../src/app/log/secret-watch.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { KnownSecrets } from '../../../src/notices/log/redact.ts'
import { loadConfig } from '../../../src/project/config/load-config.ts'
import { NOW } from '../../support/fixtures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'

test('the log shows no password of an address of the database', async () => {
  const environment = {
    UPSHOT_DATABASE_URL: 'postgres://app:password-one@db-1.example/upshot',
    UPSHOT_DATABASE_DIRECT_URL: 'postgres://app:password-two@db-1.example/upshot',
    UPSHOT_DATABASE_READ_URL: 'postgres://reports:password-three@db-3.example/upshot',
    UPSHOT_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  }
  const config = await loadConfig(environment, tempFolder())
  const secrets = new KnownSecrets()
  const parts = { config, store: openTestStore(), clock: new ManualClock(NOW), embedded: () => null }
  await new SecretWatch({ ...parts, secrets }).refresh()
  expect(secrets.redact('password-one, password-two, password-three')).not.toContain('password')
})
