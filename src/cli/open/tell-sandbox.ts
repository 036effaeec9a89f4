import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import type { Endpoint } from '../../core/incoming/endpoint.ts'
import { currentSecret } from '../../core/incoming/endpoint.ts'
import type { Config } from '../../project/config/load-config.ts'
import { ANSWER_WITHIN_MS, findRunningApp } from './running-app.ts'

const webhooks = z.object({ data: z.array(z.object({ id: z.string(), url: z.string() })) })

/**
 * Gives the app's sandbox the endpoint's current secret and scheme. False if no sandbox is running,
 * or if it has no webhook for this endpoint.
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

async function ask(origin: string, path: string, request: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${origin}/_sandbox${path}`, {
    ...request,
    headers: { 'content-type': 'application/json', 'x-sandbox-control': '1' },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  if (response.ok) return response
  throw new UpshotError('internal', `The sandbox answered HTTP ${response.status} to a change of its webhook.`)
}
