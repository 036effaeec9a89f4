import { spawn } from 'node:child_process'
import { userInfo } from 'node:os'
import { type Command, Option } from '@commander-js/extra-typings'
import { ACCESS_ROLES } from '../../../core/access/role.ts'
import { LOGIN_CODE_MS } from '../../../core/access/session.ts'
import { hashSecret } from '../../../core/access/token.ts'
import { randomWord } from '../../../core/ids.ts'
import { isoTime, systemClock } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { requireRunningApp } from '../../open/running-app.ts'

/**
 * `upshot dashboard`: prints a link that logs in once, and opens it. The right to read the data
 * directory is the right to log in.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addOption(new Option('--role <role>', 'rights of the login').choices(ACCESS_ROLES).default('admin' as const))
    .option('--no-open', 'only print the link')
    .action(({ role, open }) =>
      project.withStore(async (store, config) => {
        const base = await findDashboard(config)
        const code = randomWord()
        const expiresAt = systemClock.now() + LOGIN_CODE_MS
        await store.saveLoginCode({ hash: hashSecret(code), name: readUser(), role, expiresAt })
        // A browser sends what follows `#` to no server, so the code reaches no log.
        const url = `${base}/login#${code}`
        out.result({ url, role, expiresAt: isoTime(expiresAt) }, () => [url])
        out.note('The link logs in once, within ten minutes.')
        if (open && out.isWatched) openBrowser(url)
      }),
    )
}

/** The address of the dashboard: `admin.url`, or that of the running app. */
async function findDashboard(config: Pick<Config, 'dataDir' | 'admin'>): Promise<string> {
  const { url, basePath } = config.admin
  return `${url ?? (await requireRunningApp(config)).admin}${basePath}`
}

/** A user without an entry in the system's list, as in many containers, is named by number. */
function readUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens the system's browser where there is one; the printed link serves everybody else. */
function openBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
