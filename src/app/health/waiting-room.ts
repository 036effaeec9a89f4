import { once } from 'node:events'
import type { Server } from 'node:http'
import { AdminServer } from '../../admin/admin-server.ts'
import { createHealth } from '../../admin/ports/health.ts'
import { describeError } from '../../core/errors.ts'
import type { Config } from '../../project/config/load-config.ts'
import { describeListenError } from '../../receive/receiver.ts'
import { respond } from '../../receive/respond.ts'
import { planParts } from '../role.ts'

// An import of node:http would load all of undici.
const { createServer } = process.getBuiltinModule('node:http')

const REFUSAL = { verdict: 'unavailable', event: null, complaint: null } as const

/**
 * Answers on the ports of an app that waits for its database. It is live and not ready, and senders
 * are told to try again.
 */
export class WaitingRoom {
  /** Why the app waits, for `/readyz`. */
  why: unknown
  readonly #admin: AdminServer
  readonly #receiver: Server | null

  /** Throws where a port is taken. */
  static async open(config: Config, why: unknown): Promise<WaitingRoom> {
    const room = new WaitingRoom(config, why)
    try {
      await room.#listen(config)
    } catch (error) {
      await room.close()
      throw error
    }
    return room
  }

  private constructor(config: Config, why: unknown) {
    this.why = why
    const health = createHealth({ writable: () => Promise.reject(new Error(describeError(this.why).message)) })
    this.#admin = new AdminServer(health, { host: config.admin.host })
    this.#receiver = planParts(config).receive
      ? createServer((_request, response) => respond(response, REFUSAL, { isClosing: true }))
      : null
  }

  async #listen({ host, ports }: Config): Promise<void> {
    await this.#admin.start(ports.admin)
    if (this.#receiver === null) return
    this.#receiver.listen(ports.receiver, host)
    await once(this.#receiver, 'listening').catch((cause: Error) => {
      throw describeListenError(cause, ports.receiver)
    })
  }

  async close(): Promise<void> {
    this.#receiver?.closeAllConnections()
    await Promise.all([this.#admin.stop(), new Promise((resolve) => this.#receiver?.close(resolve) ?? resolve(null))])
  }
}
