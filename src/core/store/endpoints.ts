import type { Endpoint, EndpointName, SecretUse } from '../incoming/endpoint.ts'
import type { Account } from '../service/account.ts'

export interface EndpointWrites {
  /** Refuses a name that is taken with `conflict`. */
  addEndpoint(endpoint: Endpoint): Promise<void>
  /**
   * Changes everything about an endpoint but its id, name, path and age, and raises its revision.
   * Refused with `not_found` where there is none, with `conflict` where it was changed since the
   * given revision was read. One that does not learn any more loses its captures in the same
   * commit.
   */
  updateEndpoint(endpoint: Endpoint): Promise<void>
  /**
   * Ends an endpoint and its secrets for ever; its name is free again, what it received stays.
   * `not_found` where there is none.
   */
  removeEndpoint(endpoint: Pick<Endpoint, 'id' | 'name'>, now: number): Promise<void>
  /** Adds an account, or changes everything about the one of that name but its age. */
  saveAccount(account: Account): Promise<void>
  /** Refused with `conflict` while an endpoint uses it, with `not_found` where there is none. */
  removeAccount(name: string): Promise<void>
}

export interface EndpointReads {
  findEndpoint(path: string): Promise<Endpoint | null>
  listEndpoints(): Promise<Endpoint[]>
  /** Every endpoint that there ever was, removed ones too; oldest first. */
  listEndpointNames(): Promise<EndpointName[]>
  /** By position. Exact to the minute. */
  listSecretUses(endpointId: string): Promise<SecretUse[]>
  findAccount(name: string): Promise<Account | null>
  /** By name. */
  listAccounts(): Promise<Account[]>
}
