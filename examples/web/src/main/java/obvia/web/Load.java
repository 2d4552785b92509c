package obvia.web;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Generates requests of many readers of one site. The popularity of pages follows Zipf's law.
 * Messages have up to 1060 bytes, with 20 strings of headers.
 *
 * <p>The same parameters give the same requests.
 */
final class Load {
    /** The minimum and maximum size of a message in bytes. */
    static final int LEAST = 196;
    static final int MOST = 1060;

    /** The lengths of the names of headers that browsers send: `Accept`, `Cookie` and so on. */
    private static final int[] NAMES = {6, 15, 15, 13, 7, 6, 3, 25};
    /**
     * The size of the additional headers: `Host` and `User-Agent` with the values that
     * {@link Player} sends.
     */
    private static final int OF_CLIENT = "Host".length() + "127.0.0.1:8080".length() + "User-Agent".length() + Player.USER_AGENT.length();
    /** The number of readers with different browsers. */
    private static final int READERS = 100;

    private Load() {}

    /**
     * The parameters of a site.
     *
     * @param requests the number of requests
     * @param rate the average number of requests per second; requests are independent of each other
     * @param pages the number of pages
     * @param skew the exponent of the popularity: the first page is requested
     *     {@code K^skew} times as often as the K-th page
     */
    record Site(int requests, double rate, int pages, double skew, long seed) {}

    /** Generates the requests. */
    static List<Trace.Request> make(Site site) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(site.seed);
        double[] upTo = popularity(site);
        List<List<Integer>> readers = new ArrayList<>();
        for (int reader = 0; reader < READERS; reader++) {
            readers.add(headers(random));
        }
        List<Trace.Request> requests = new ArrayList<>();
        while (requests.size() < site.requests) {
            long pause = (long) (random.nextExponential() * 1e6 / site.rate);
            int found = Arrays.binarySearch(upTo, random.nextDouble());
            String path = "/pages/" + Math.min(found < 0 ? -found - 1 : found, site.pages - 1);
            List<Integer> headers = readers.get(random.nextInt(READERS));
            Trace.Request get = new Trace.Request(pause, "GET", path, headers, 0);
            // `POST` is one byte longer than `GET`.
            int room = MOST - bytes(get) - 1;
            boolean isForm = room > 0 && random.nextInt(10) == 0;
            requests.add(isForm ? new Trace.Request(pause, "POST", path, headers, 1 + random.nextInt(room)) : get);
        }
        return requests;
    }

    /** Returns the size of a message in bytes, with the headers that traces omit. */
    static int bytes(Trace.Request request) {
        return request.bytes() + OF_CLIENT;
    }

    /** Returns, for each page, the share of requests for it and for all more popular pages. */
    private static double[] popularity(Site site) {
        double[] upTo = new double[site.pages];
        double sum = 0;
        for (int page = 0; page < site.pages; page++) {
            sum += Math.pow(page + 1, -site.skew);
            upTo[page] = sum;
        }
        for (int page = 0; page < site.pages; page++) {
            upTo[page] /= sum;
        }
        return upTo;
    }

    /**
     * Returns the lengths of the headers of a reader's browser. The total length of the values
     * differs between browsers, and is more often small than large.
     */
    private static List<Integer> headers(RandomGenerator random) {
        int names = Arrays.stream(NAMES).sum();
        // The path, of up to 20 bytes, and the method need room as well.
        int room = MOST - OF_CLIENT - names - 24;
        int least = LEAST - OF_CLIENT - names;
        double share = random.nextDouble();
        int values = Math.max(least, 0) + (int) ((room - Math.max(least, 0)) * share * share);
        List<Integer> strings = new ArrayList<>();
        for (int header = 0; header < NAMES.length; header++) {
            int left = NAMES.length - header;
            int value = left == 1 ? values : Math.min(values, random.nextInt(2 * values / left + 1));
            values -= value;
            strings.add(NAMES[header]);
            strings.add(value);
        }
        return List.copyOf(strings);
    }
}
