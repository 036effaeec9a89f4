import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Route } from '../../../core/incoming/route.ts'

/** Endpoints and routes, which deliveries are planned with. */
export interface Setup {
  /** Rises with each change. Read before the rest, so it is never newer. */
  version: number
  /** By path. */
  endpoints: ReadonlyMap<string, Endpoint>
  /** Null until a process has loaded workflows. */
  routes: readonly Route[] | null
}

/** SQL for the version. Both tables have one row; each number only rises, and so does the sum. */
export const SETUP_VERSION =
  'SELECT endpoint_version.version + workflow_version.version FROM endpoint_version, workflow_version'

/** The tables that it is in. */
export interface SetupTables {
  endpoints: { load(): Promise<Setup['endpoints']> }
  workflows: { routes(): Promise<Setup['routes']> }
}

export async function loadSetup({ endpoints, workflows }: SetupTables): Promise<Omit<Setup, 'version'>> {
  return { endpoints: await endpoints.load(), routes: await workflows.routes() }
}
