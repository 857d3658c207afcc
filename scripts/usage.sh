# Sourced by the scripts before they do anything: asked for --help, one prints the comment at its head.
case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
esac
