import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listen } from '../../../support/listen.ts'

/** A request as a hook got it. */
interface Posted {
  headers: IncomingHttpHeaders
  body: string
}

interface Hook {
  url: string
  /** Status of its next answers. */
  answer: number | 'never'
  posted: Posted[]
}

/** A web hook on loopback. */
export async function startHook(): Promise<Hook> {
  const hook: Hook = { url: '', answer: 200, posted: [] }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    hook.posted.push({ headers: request.headers, body })
    if (hook.answer !== 'never') response.writeHead(hook.answer).end('thanks')
  })
  hook.url = `${await listen(server)}/secret-path`
  return hook
}
