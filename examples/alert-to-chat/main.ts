import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { testbed } from 'upshot/testing'
import { type Say, tellRuns, transfer } from '../shared.ts'
import workflow, { chat } from './alert-to-chat.workflow.ts'

/** A transfer breaks off, and the chat is down at the first attempt. */
export default async function run(say: Say) {
  const posts: { key: unknown; body: string }[] = []
  await using server = createServer(async (request, response) => {
    posts.push({ key: request.headers['idempotency-key'], body: await text(request) })
    response.writeHead(posts.length === 1 ? 503 : 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  chat.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/operations`

  await using t = await testbed({ workflows: [workflow] })
  await t.send(await transfer(t, '/film.mov', 'a long film', { failAt: 0.5 }))
  tellRuns(t, say)
  await t.advance('1m')
  tellRuns(t, say)
  return { attempts: posts.length, keys: new Set(posts.map(({ key }) => key)).size, last: posts.at(-1)?.body }
}
