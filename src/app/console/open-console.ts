import { fileURLToPath } from 'node:url'
import { lateConsole, type Served } from '../../admin/late-console.ts'
import type { Health } from '../../admin/ports/health.ts'
import { hashSecret } from '../../core/access/token.ts'
import type { ListReads, Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import type { Config } from '../../project/config/load-config.ts'
import { loadAdminToken } from '../../project/data-dir/admin-token.ts'
import { readVersion } from '../../project/read-version.ts'
import type { Metrics } from '../../watch/metrics/metrics.ts'
import type { EmbeddedSandbox } from '../service/embedded-sandbox.ts'
import { openSurroundings } from './open-surroundings.ts'

/** The admin API and the dashboard of this process. Writes `admin.token` at the first start. */
export function openConsole(
  config: Config,
  {
    metrics,
    ...parts
  }: {
    store: Store
    openLists: () => Promise<ListReads>
    clock: Clock
    notices: NoticeBus
    health: Health
    embedded: () => EmbeddedSandbox | null
    metrics: Pick<Metrics, 'scrape'>
    probeKey: Uint8Array
  },
): (port: () => number) => Served {
  const { url, basePath, proxy } = config.admin
  const oidc = config.admin.oidc && { ...config.admin.oidc, secret: config.oidcSecret }
  const access = { url, basePath, proxy, oidc, fileTokenHash: hashSecret(loadAdminToken(config)) }
  const { publish } = parts.notices
  const surroundings = openSurroundings(config, { ...parts, publish })
  const facts = { version: readVersion(), role: config.role, isSandbox: config.service.kind === 'sandbox' }
  const source = { isOpen: config.admin.metrics === 'open', scrape: (accept: string) => metrics.scrape(accept) }
  const served = { ...parts, publish, surroundings, access, facts, metrics: source, page: dashboardFolder() }
  return (port) => lateConsole(served, port)
}

/** The built dashboard: in `dist` of a checkout, or beside the compiled code of the package. */
function dashboardFolder(): string {
  const isSource = import.meta.url.endsWith('.ts')
  return fileURLToPath(new URL(isSource ? '../../../dist/dashboard/' : '../../dashboard/', import.meta.url))
}
