/** A page of the navigation: its address, title, and the key that follows `g`. */
interface Place {
  href: string
  title: string
  key: string
}

/** The navigation: what happens, what is set up, and what runs below. */
export const PLACES: readonly (readonly Place[])[] = [
  [
    { href: '/', title: 'Overview', key: 'o' },
    { href: '/runs', title: 'Runs', key: 'r' },
    { href: '/failures', title: 'Failures', key: 'f' },
    { href: '/events', title: 'Events', key: 'e' },
    { href: '/deliveries', title: 'Deliveries', key: 'd' },
  ],
  [
    { href: '/endpoints', title: 'Endpoints', key: 'n' },
    { href: '/workflows', title: 'Workflows', key: 'w' },
    { href: '/schedules', title: 'Schedules', key: 's' },
  ],
  [
    { href: '/approvals', title: 'Approvals', key: 'a' },
    { href: '/effects', title: 'Effects', key: 'x' },
  ],
  [{ href: '/files', title: 'Files', key: 'p' }],
  [{ href: '/system', title: 'System', key: 'y' }],
]
