import { UpshotError } from '../../../../core/errors.ts'
import type { Webhook } from '../../../../sandbox/index.ts'
import { findEndpoint } from '../../../open/find-endpoint.ts'
import { withStore } from '../../../open/open-project.ts'
import type { SandboxControl } from './sandbox-control.ts'

/**
 * The webhook of this id or URL, else the one that tells the project's endpoint of this name.
 * Throws `not_found`.
 */
export async function chooseWebhook(sandbox: SandboxControl, name: string): Promise<Webhook> {
  const all = await sandbox.get<Webhook[]>('/webhooks')
  const named = all.find(({ id, url }) => id === name || url === name)
  if (named !== undefined) return named
  if (/^whk_|^https?:/.test(name)) throw refuseWebhook(`There is no webhook ${name}.`)
  const { path } = await withStore((store) => findEndpoint(store, name))
  const found = all.find(({ url }) => url.endsWith(`/hooks/${path}`))
  if (found !== undefined) return found
  throw refuseWebhook(`The sandbox tells the endpoint "${name}" nothing.`)
}

function refuseWebhook(message: string): UpshotError {
  return new UpshotError('not_found', message, {
    details: {
      fix: 'See "upshot sandbox webhook list", or register an address with "upshot sandbox webhook add <url>".',
    },
  })
}
