import { z } from 'zod'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Routes } from './routes.ts'

const advanceInput = z.strictObject({ by: z.union([z.string(), z.number()]) })

export function clockRoutes({ clock, limiter, audit }: SandboxParts): Routes {
  return {
    'GET /clock': () => ({ now: clock.now(), mode: clock.mode }),
    'POST /clock/real': async () => {
      const now = await clock.followMachine()
      // Buckets and notes hold moments of the clock before, which may lie ahead of this one.
      limiter.clear()
      audit.forget()
      return { now, mode: clock.mode }
    },
    'POST /clock/advance': async ({ body }) => {
      const { by } = advanceInput.parse(body)
      return { now: await clock.advance(by), mode: clock.mode }
    },
  }
}
