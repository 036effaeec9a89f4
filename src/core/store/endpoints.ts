import type { Endpoint, EndpointName, SecretUse } from '../incoming/endpoint.ts'
import type { Account } from '../service/account.ts'

export interface EndpointWrites {
  /** `conflict` for a name that is taken. */
  addEndpoint(endpoint: Endpoint): Promise<void>
  /**
   * Changes all but id, name, path and `createdAt`, and raises the revision. Captures stay for the
   * receiver to take in, unless it is disabled. `not_found` without the
   * endpoint, `conflict` when its revision has risen since.
   */
  updateEndpoint(endpoint: Endpoint): Promise<void>
  /**
   * Removes an endpoint and its secrets for good; its name is free again, its deliveries stay.
   * `not_found` without the endpoint.
   */
  removeEndpoint(endpoint: Pick<Endpoint, 'id' | 'name'>, now: number): Promise<void>
  /** Adds an account, or changes everything about the one with its name but `createdAt`. */
  saveAccount(account: Account): Promise<void>
  /** `conflict` while an endpoint uses it, `not_found` without the account. */
  removeAccount(name: string): Promise<void>
}

export interface EndpointReads {
  /**
   * Rises with each change of an endpoint, a workflow or a route. Read it before them: a delivery
   * that names it is then never accepted by rules of before a change.
   */
  readSetupVersion(): Promise<number>
  /** By the last part of its URL. */
  findEndpoint(path: string): Promise<Endpoint | null>
  /** Oldest first, without removed ones. */
  listEndpoints(): Promise<Endpoint[]>
  /** Every endpoint, removed ones included; oldest first. */
  listEndpointNames(): Promise<EndpointName[]>
  /** By position; exact to the minute. */
  listSecretUses(endpointId: string): Promise<SecretUse[]>
  findAccount(name: string): Promise<Account | null>
  /** By name. */
  listAccounts(): Promise<Account[]>
}
