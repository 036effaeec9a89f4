import { z } from 'zod'
import { UpshotError } from '../../../../core/errors.ts'
import { currentSecret, type Endpoint } from '../../../../core/incoming/endpoint.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Webhook } from '../../../../sandbox/index.ts'
import { chooseEndpoint } from '../../../open/find-endpoint.ts'
import { withStore } from '../../../open/open-project.ts'
import { findRunningApp } from '../../../open/running-app.ts'
import type { SandboxControl } from './sandbox-control.ts'

const ANSWER_WITHIN_MS = 5_000
const webhooks = z.object({ data: z.array(z.object({ id: z.string(), url: z.string() })) })

/**
 * Tells the sandbox of the running app how an endpoint's deliveries are to be signed, as a person
 * would type it into the settings of the real service. False where no sandbox runs, or where it
 * sends nothing to this endpoint.
 */
export async function tellSandbox(config: Pick<Config, 'dataDir'>, endpoint: Endpoint): Promise<boolean> {
  const sandbox = (await findRunningApp(config))?.sandbox
  if (!sandbox) return false
  const { data } = webhooks.parse(await (await ask(sandbox.origin, '/webhooks')).json())
  const webhook = data.find(({ url }) => url.endsWith(`/hooks/${endpoint.path}`))
  if (!webhook) return false
  const change = { secrets: [currentSecret(endpoint)], scheme: endpoint.scheme }
  await ask(sandbox.origin, `/webhooks/${webhook.id}`, { method: 'PATCH', body: JSON.stringify(change) })
  return true
}

/**
 * The webhook of this id or URL, else the one that tells the project's endpoint of this name.
 * Throws `not_found`.
 */
export async function chooseWebhook(sandbox: SandboxControl, name: string): Promise<Webhook> {
  const all = await sandbox.get<Webhook[]>('/webhooks')
  const named = all.find(({ id, url }) => id === name || url === name)
  if (named !== undefined) return named
  if (/^whk_|^https?:/.test(name)) throw refuseWebhook(`There is no webhook ${name}.`)
  const { path } = await withStore((store) => chooseEndpoint(store, name))
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

async function ask(origin: string, path: string, request: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${origin}/_sandbox${path}`, {
    ...request,
    headers: { 'content-type': 'application/json', 'x-sandbox-control': '1' },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  if (response.ok) return response
  throw new UpshotError('internal', `The sandbox answered ${response.status} to a change of its webhook.`)
}
