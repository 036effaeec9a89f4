import { spawn } from 'node:child_process'
import { type Command, Option } from '@commander-js/extra-typings'
import { makeLoginLink } from '../../../app/console/make-login-link.ts'
import { ACCESS_ROLES } from '../../../core/access/role.ts'
import { isoTime } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
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
        // A configured address needs no running app to be known.
        const adminUrl = config.admin.url ?? (await requireRunningApp(config)).admin
        const { url, expiresAt } = await makeLoginLink(store, { config, adminUrl, role }, commandClock.now())
        out.result({ url, role, expiresAt: isoTime(expiresAt) }, () => [url])
        out.note('The link logs in once, within ten minutes.')
        if (open && out.isWatched) openBrowser(url)
      }),
    )
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
