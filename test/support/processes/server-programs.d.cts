type Lookup = () => string | undefined;

declare const programs: Readonly<
  Record<
    | 'redis'
    | 'java'
    | 'zookeeper'
    | 'postgres'
    | 'initdb'
    | 'mariadb'
    | 'mariadbInstall'
    | 'faketime'
    | 'etcd'
    | 'nats'
    | 'chromium',
    Lookup
  >
>;
export = programs;
