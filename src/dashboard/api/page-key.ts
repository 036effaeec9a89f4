/** Origins share no storage, so no other page of this host can read the key. */
const name = () => `upshot.key:${new URL(document.baseURI).pathname}`

/** The half of the session that the page keeps; the other half is a cookie that it cannot read. */
export const pageKey = {
  read: (): string | null => localStorage.getItem(name()),
  save: (key: string): void => localStorage.setItem(name(), key),
  drop: (): void => localStorage.removeItem(name()),
}
