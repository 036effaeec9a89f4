import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type Say, scratchFolder } from '../shared.ts'

const PROXIES = {
  nginx: { config: 'nginx.conf', args: (file: string) => ['-c', file, '-g', 'daemon off; pid off; error_log stderr;'] },
  caddy: { config: 'Caddyfile', args: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file] },
}

const listen = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Starts each proxy that is installed, and looks what reaches the receiver through it. */
export default async function run(say: Say) {
  const found: Record<string, unknown> = {}
  for (const [name, proxy] of Object.entries(PROXIES)) {
    if (spawnSync(name, ['version']).error) say(`${name} is not installed here`)
    else found[name] = await tryProxy(name, proxy)
  }
  return found
}

/** A body reaches the receiver byte by byte, or its signature would not match. */
async function tryProxy(name: string, { config, args }: (typeof PROXIES)[keyof typeof PROXIES]) {
  await using folder = await scratchFolder()
  const bodies: string[] = []
  await using receiver = createServer(async (request, response) => {
    bodies.push(await text(request))
    response.end('taken')
  })
  const free = createServer()
  const [ours, port] = [await listen(receiver), await listen(free)]
  await new Promise((resolve) => free.close(resolve))

  const file = join(folder.path, config)
  const sample = await readFile(join(import.meta.dirname, config), 'utf8')
  await writeFile(file, sample.replace('8080', String(port)).replace('4700', String(ours)))
  const child = spawn(name, args(file), { stdio: 'ignore', env: { ...process.env, HOME: folder.path } })
  try {
    const body = '{ "id": "evt_1",  "data": {} }'
    const taken = await ask(child, `http://127.0.0.1:${port}/hooks/main`, body)
    const refused = await ask(child, `http://127.0.0.1:${port}/admin`, body)
    return { taken, isSameBody: bodies.join() === body, refused }
  } finally {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  }
}

/** The status of a request, once the proxy listens. */
async function ask(child: ChildProcess, url: string, body: string): Promise<number> {
  while (child.exitCode === null) {
    const response = await fetch(url, { method: 'POST', body }).catch(() => null)
    if (response !== null) return response.status
    await pause(50)
  }
  throw new Error(`the proxy ended with ${child.exitCode}`)
}
