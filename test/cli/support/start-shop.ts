import { startTestApp } from '../../support/test-app.ts'
import { runHere } from './run-here.ts'

/** An app with an endpoint "shop", and `upshot endpoints` on its data directory. */
export async function startShop(parts: Parameters<typeof startTestApp>[0] = {}) {
  const started = await startTestApp(parts)
  const endpoints = (...args: string[]) => runHere(started.dataDir, ['endpoints', ...args, '--json'])
  const { endpoint, secret } = (await endpoints('add', 'shop')).json.data
  const { url } = endpoint
  const post = async (body: string, signature: string, headers: Record<string, string> = {}) => {
    const all = { 'content-type': 'application/json', 'x-service-signature': signature, ...headers }
    return (await fetch(url, { method: 'POST', headers: all, body })).status
  }
  return { ...started, endpoints, url: String(url), secret: String(secret), post }
}
