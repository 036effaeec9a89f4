import type { AccessRole } from '../../core/access/role.ts'
import { LOGIN_CODE_MS } from '../../core/access/session.ts'
import { hashSecret } from '../../core/access/token.ts'
import { randomWord } from '../../core/ids.ts'
import type { Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import { readUser } from '../../project/read-user.ts'

/**
 * A link that logs in to the dashboard, once within ten minutes. `adminUrl`: of the running app.
 */
export async function makeLoginLink(
  store: Pick<Store, 'saveLoginCode'>,
  { config, adminUrl, role }: { config: Pick<Config, 'admin'>; adminUrl: string; role: AccessRole },
  now: number,
): Promise<{ url: string; expiresAt: number }> {
  const { url, basePath } = config.admin
  const code = randomWord()
  const expiresAt = now + LOGIN_CODE_MS
  await store.saveLoginCode({ hash: hashSecret(code), name: readUser(), role, expiresAt })
  // A browser sends what follows `#` to no server, so the code reaches no log.
  return { url: `${url ?? adminUrl}${basePath}/login#${code}`, expiresAt }
}
