import { requireEndpoint } from '../../../../admin/queries/require-row.ts'
import { resolveAmong } from '../../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Webhook } from '../../../../sandbox/index.ts'
import type { Project } from '../../../open/open-project.ts'
import type { SandboxControl } from './sandbox-control.ts'

/**
 * The webhook with this id, beginning of an id or URL, or for the endpoint with this name. Throws
 * `not_found`.
 */
export async function findWebhook(
  { sandbox, project }: { sandbox: SandboxControl; project: Project },
  name: string,
): Promise<Webhook> {
  const all = await sandbox.get<Webhook[]>('/webhooks')
  const named = all.find(({ url }) => url === name) ?? resolveAmong(name, all)
  if (named !== null) return named
  if (/^whk_|^https?:/.test(name)) throw refuseWebhook(`There is no webhook ${name}.`)
  const { path } = await project.withStore((store) => requireEndpoint(store, name))
  const found = all.find(({ url }) => url.endsWith(`/hooks/${path}`))
  if (found !== undefined) return found
  throw refuseWebhook(`The sandbox has no webhook for the endpoint "${name}".`)
}

function refuseWebhook(message: string): UpshotError {
  return new UpshotError('not_found', message, {
    details: {
      fix: 'List the webhooks with "upshot sandbox webhook list", or add one with "upshot sandbox webhook add <url>".',
    },
  })
}
